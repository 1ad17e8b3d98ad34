/** Starts the console: the frame around the pages, and the page that the address bar names. */
import { carryKey } from '../model/apiKey.ts'
import { heldKey } from './account/heldKey.ts'
import { ChainChoice } from './ChainChoice.ts'
import { pages } from './pages.ts'
import { showPulse } from './pulse.ts'
import { Router } from './Router.ts'
import { followStatus, type StatusSample } from './statusFeed.ts'

carryKey(heldKey())

let last: StatusSample | null = null

const chain = new ChainChoice(() => last && showPulse(last, chain.chainId))
const router = new Router(pages, chain)

void router.followLink()
void followStatus((sample) => {
  last = sample
  if (sample.report) chain.offer(sample.report)
  showPulse(sample, chain.chainId)
  router.tell(sample)
})
