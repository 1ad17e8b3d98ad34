// lists.test.ts in its whole breadth.
import './lists.test.ts'
