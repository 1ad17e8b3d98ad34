import { zoneOutboxAddress } from '../../addresses.ts'
import { approval as approved } from '../../events/tokens/erc20.ts'
import { defineActivity, fromEvent, tokenAmount } from '../activity.ts'

/** Allowances; one that a withdrawal from a zone gives its outbox is part of the withdrawal. */
export const approval = defineActivity({
  type: 'approval',
  title: 'Allowance approved',
  find: fromEvent(approved, ({ spender, amount }, { emitter }) =>
    spender === zoneOutboxAddress ? null : { sourceToken: tokenAmount(emitter, amount), spender },
  ),
})
