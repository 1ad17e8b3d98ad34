// segments.test.ts in its whole breadth.
import './segments.test.ts'
