// audit.test.ts in its whole breadth.
import './audit.test.ts'
