/** Reviews of jobs and their rewards. Beside a dev chain rewards need no setting. */
import { rewardDefaults } from '#api/access/paymentSettings.ts'
import { reviewEndpoints } from '#orchestrator/rest/jobs/index.ts'
import { Reviews } from '#orchestrator/review/Reviews.ts'
import { appDatabase } from '#rows/database.ts'
import { definePart } from '../part.ts'
import type { PaymentsPart } from '../payments/paymentsPart.ts'

interface BesideReviews {
  readonly payments: Pick<PaymentsPart, 'transferFee'>
}

/** Half of what a job earned: a visitor of a dev chain is to see that there is a reward. */
const DEV_SHARE = '0.5'

export const reviewsPart = definePart({
  name: 'reviews',
  endpoints: reviewEndpoints,
  open: ({ config, program, runtime, log }, { payments: { transferFee } }: BesideReviews) => {
    const isDev = program.reachable.some(({ devChain }) => devChain !== null)
    const { payments } = config.access
    const terms = payments ? payments.rewards : isDev ? { share: DEV_SHARE, ...rewardDefaults } : null
    const app = appDatabase(program.engines.postgres)
    const reviews = new Reviews({ app, terms, transferFee, clock: runtime.clock, log })
    return {
      services: { reviews },
      notes: terms ? [`a review of a job is rewarded with ${terms.share} of what the job earned`] : [],
      run: ({ shutdown }) => reviews.run(shutdown),
    }
  },
})
