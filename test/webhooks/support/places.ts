/** Places before, between and after the commits of matching and sending. */

/** Points at which a process that sends may end. */
export const sending = [
  'webhooks.claim.rows',
  'webhooks.claim.commit',
  'webhooks.claim.done',
  'webhooks.send',
  'webhooks.sent',
  'webhooks.outcome.commit',
  'webhooks.outcome.done',
]
/** Points at which one that matches may end. */
export const matching = [
  'webhooks.match.moved',
  'webhooks.match.messages',
  'webhooks.match.walked',
  'webhooks.match.commit',
  'webhooks.match.done',
]
