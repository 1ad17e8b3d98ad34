/** Reviews of jobs and their rewards. Beside a dev chain rewards need no setting. */
import { rewardDefaults } from '#api/access/paymentSettings.ts'
import type { ReviewServices } from '#orchestrator/rest/jobs/feedback.ts'
import { Reviews } from '#orchestrator/review/Reviews.ts'
import { appDatabase } from '#rows/database.ts'
import type { Base, Part } from '../part.ts'
import type { PaymentsPart } from '../payments/paymentsPart.ts'

/** Half of what a job earned: a visitor of a dev chain is to see that there is a reward. */
const DEV_SHARE = '0.5'

export function openReviewsPart(
  { config, program, runtime, log }: Base,
  { transferFee }: Pick<PaymentsPart, 'transferFee'>,
): Part<Pick<ReviewServices, 'reviews'>> {
  const isDev = program.reachable.some(({ devChain }) => devChain !== null)
  const { payments } = config.access
  const terms = payments ? payments.rewards : isDev ? { share: DEV_SHARE, ...rewardDefaults } : null
  const reviews = new Reviews({
    ...{ app: appDatabase(program.engines.postgres), terms, transferFee, clock: runtime.clock, log },
  })
  return {
    services: { reviews },
    notes: terms ? [`a review of a job is rewarded with ${terms.share} of what the job earned`] : [],
    run: ({ shutdown }) => reviews.run(shutdown),
  }
}
