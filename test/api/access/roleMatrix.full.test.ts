// roleMatrix.test.ts in its whole breadth.
import './roleMatrix.test.ts'
