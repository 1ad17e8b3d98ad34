// withdrawal.test.ts in its whole breadth.
import './withdrawal.test.ts'
