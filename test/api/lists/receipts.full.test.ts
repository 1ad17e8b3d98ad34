// receipts.test.ts in its whole breadth.
import './receipts.test.ts'
