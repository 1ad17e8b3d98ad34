// browser.test.ts in its whole breadth.
import './browser.test.ts'
