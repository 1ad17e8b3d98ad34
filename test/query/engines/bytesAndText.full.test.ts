// bytesAndText.test.ts in its whole breadth.
import './bytesAndText.test.ts'
