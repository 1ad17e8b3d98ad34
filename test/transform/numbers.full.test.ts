// numbers.test.ts in its whole breadth.
import './numbers.test.ts'
