// traffic.test.ts in its whole breadth.
import './traffic.test.ts'
