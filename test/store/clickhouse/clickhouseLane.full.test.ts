// clickhouseLane.test.ts in its whole breadth.
import './clickhouseLane.test.ts'
