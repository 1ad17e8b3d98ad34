// decodedTables.test.ts in its whole breadth.
import './decodedTables.test.ts'
