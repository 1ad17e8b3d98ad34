// deaths.full.test.ts, each place twenty times, and a thousand unknown settlements.
import './deaths.full.test.ts'
