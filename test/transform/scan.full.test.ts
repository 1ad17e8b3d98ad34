// scan.test.ts in its whole breadth.
import './scan.test.ts'
