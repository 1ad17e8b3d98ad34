// crash.test.ts in its whole breadth.
import './crash.test.ts'
