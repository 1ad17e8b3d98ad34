/** The reader's own API key: in this tab's storage, in no URL, and gone with the tab. */
import { carryKey } from '../../model/apiKey.ts'

const NAME = 'api-key'

export const heldKey = (): string | null => sessionStorage.getItem(NAME)

/** Null forgets it. */
export function holdKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(NAME)
  else sessionStorage.setItem(NAME, key)
  carryKey(key)
}
