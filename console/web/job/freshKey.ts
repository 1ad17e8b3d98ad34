/** A new idempotency key: also where the page came by plain HTTP, which has no `randomUUID`. */
export const freshKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
