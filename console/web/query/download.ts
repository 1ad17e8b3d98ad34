/** Gives the reader a file. */
import { browserClock } from '../browserClock.ts'
import { element } from '../element.ts'

/** Long enough for the browser to take it, which it may do after the click returns. */
const KEPT_MS = 10_000

export function download(name: string, contentType: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: contentType }))
  element('a', { href: address, download: name }).click()
  void browserClock.sleep(KEPT_MS).then(() => URL.revokeObjectURL(address))
}

/**
 * False where the browser does not let a page write to the clipboard, as on plain HTTP from another
 * machine.
 */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
