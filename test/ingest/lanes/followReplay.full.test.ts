// followReplay.test.ts in its whole breadth.
import './followReplay.test.ts'
