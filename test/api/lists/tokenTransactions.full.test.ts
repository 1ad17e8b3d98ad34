// tokenTransactions.test.ts in its whole breadth.
import './tokenTransactions.test.ts'
