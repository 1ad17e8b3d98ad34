// amsterdam.test.ts in its whole breadth.
import './amsterdam.test.ts'
