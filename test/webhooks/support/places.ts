/** Places before, between and after the commits of matching and sending. */

/** Where a process that sends may end. */
export const sending = [
  'webhooks.claim.rows',
  'webhooks.claim.commit',
  'webhooks.claim.done',
  'webhooks.send',
  'webhooks.sent',
  'webhooks.outcome.commit',
  'webhooks.outcome.done',
]
/** Where one that matches may. */
export const matching = [
  'webhooks.match.moved',
  'webhooks.match.messages',
  'webhooks.match.walked',
  'webhooks.match.commit',
  'webhooks.match.done',
]
