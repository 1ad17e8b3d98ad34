// badInput.test.ts in its whole breadth.
import './badInput.test.ts'
