import { zoneOutboxAddress } from '../../addresses.ts'
import { approval as approved } from '../../events/tokens/erc20.ts'
import { defineActivity, fromEvent, tokenAmount } from '../activity.ts'

/** What a withdrawal from a zone lets its outbox take is part of the withdrawal. */
export const approval = defineActivity({
  type: 'approval',
  title: 'Allowance approved',
  find: fromEvent(approved, ({ spender, amount }, { emitter }) =>
    spender === zoneOutboxAddress ? null : { sourceToken: tokenAmount(emitter, amount), spender },
  ),
})
