// exchange.test.ts in its whole breadth.
import './exchange.test.ts'
