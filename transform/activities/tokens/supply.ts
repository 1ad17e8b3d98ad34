/** Tokens made and unmade. */
import {
  type ActivityTransaction,
  defineActivity,
  type Finding,
  type TokenMovement,
  tokenAmount,
} from '../activity.ts'
import { heldTitles, titleOf } from './held.ts'
import { touches } from './transfers.ts'

export const mint = defineActivity({
  type: 'mint',
  title: 'Token minted',
  otherTitles: [heldTitles.blocked.mint],
  signer: 'never',
  find: (tx) => findChange(tx, 'mint', ({ to, held }) => ({ recipient: held?.receiver ?? to })),
})

/** By the holder, or by an account with the role for it (since T12). */
export const burn = defineActivity({
  type: 'burn',
  title: 'Token burned',
  otherTitles: [heldTitles.burned.burn],
  find: (tx) => findChange(tx, 'burn', ({ from }) => ({ sender: from })),
})

/** An issuer burned the tokens of an account its policy blocks. */
export const burnBlocked = defineActivity({
  type: 'burn-blocked',
  title: 'Burn blocked',
  find: (tx) => findChange(tx, 'burnBlocked', ({ from }) => ({ sender: from })),
})

function findChange(
  tx: ActivityTransaction,
  kind: TokenMovement['kind'],
  sides: (movement: TokenMovement) => Finding['data'],
): Finding | null {
  const changes = tx.movements.filter((movement) => movement.kind === kind)
  const change = changes.find((movement) => touches(movement, tx)) ?? changes[0]
  if (change === undefined) return null
  const { logIndex, token, amount, virtualRecipient, burner } = change
  const data = { ...sides(change), sourceToken: tokenAmount(token, amount) }
  return { logIndex, title: titleOf(change), actor: burner, virtualRecipient, data }
}
