/** The purchases of this browser, in its own storage: read anew each time, as other tabs write there. */
import { type Purchase, readPurchases, withoutPurchase, withPurchase } from '../../job/purchases.ts'

const NAME = 'purchases'

export const heldPurchase = (planHash: string): Purchase | null =>
  held().find((one) => one.planHash === planHash) ?? null

/** @throws where the browser keeps nothing: what is paid then could be paid twice */
export function holdPurchase(purchase: Purchase): void {
  write(withPurchase(held(), purchase))
  if (heldPurchase(purchase.planHash) === null)
    throw new Error(
      'This browser keeps nothing for pages, so that a reload could pay twice: use the command. Nothing was paid.',
    )
}

export const dropPurchase = (planHash: string): void => write(withoutPurchase(held(), planHash))

function held(): readonly Purchase[] {
  try {
    return readPurchases(localStorage.getItem(NAME))
  } catch {
    return []
  }
}

function write(purchases: readonly Purchase[]): void {
  try {
    if (purchases.length === 0) localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, JSON.stringify(purchases))
  } catch {
    // Some private windows refuse: what has to be kept is looked for after it is written.
  }
}
