// erc20Tokens.test.ts in its whole breadth.
import './erc20Tokens.test.ts'
