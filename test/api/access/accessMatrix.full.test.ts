// accessMatrix.test.ts in its whole breadth.
import './accessMatrix.test.ts'
