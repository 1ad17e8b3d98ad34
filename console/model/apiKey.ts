/**
 * The API key that this page's requests carry, where its reader gave one. It is sent as a header
 * and stands in no URL; requests of the signed-in person (AccountClient.ts) go without it.
 */
let held: string | null = null

/** Null for none. */
export function carryKey(key: string | null): void {
  held = key
}

export const keyHeaders = (): Readonly<Record<string, string>> =>
  held === null ? {} : { 'svc-api-key': held }
