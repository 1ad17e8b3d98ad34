// exchangeOnDevChain.full.test.ts over 1,000 blocks.
import './exchangeOnDevChain.full.test.ts'
