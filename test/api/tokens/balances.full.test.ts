// balances.test.ts in its whole breadth.
import './balances.test.ts'
