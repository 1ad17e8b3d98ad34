/** Addresses with a login: `https://user:password@host/path`. */

/** The login of an address as the header that carries it, and the address without. */
export function takeLogin(address: string): { readonly url: string; readonly authorization: string | null } {
  const parsed = new URL(address)
  const { username, password } = parsed
  if (username === '' && password === '') return { url: address, authorization: null }
  parsed.username = ''
  parsed.password = ''
  const login = Buffer.from(`${decodePercent(username)}:${decodePercent(password)}`)
  return { url: parsed.href, authorization: `Basic ${login.toString('base64')}` }
}

/** Percent encoding undone, or the text itself where it is none. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
