// rederive.test.ts in its whole breadth.
import './rederive.test.ts'
