/**
 * A page, and what it shows, as the fragment of a link. Fragments stay in the browser: no server or
 * log sees what they hold.
 */

/** The fields that a page keeps in its links, by names of its own; `view` and `chain` belong to the frame. */
export type LinkFields = Readonly<Record<string, string>>

export interface Link {
  /** Null where the link names none. */
  readonly page: string | null
  readonly chainId: number | null
  readonly fields: LinkFields
}

export function toFragment({ page, chainId, fields }: Link): string {
  const written = new URLSearchParams()
  if (page !== null) written.set('view', page)
  if (chainId !== null) written.set('chain', `${chainId}`)
  for (const [name, value] of Object.entries(fields)) written.set(name, value)
  return `#${written}`
}

/** Anything may stand in a link; what is not understood is left out. */
export function parseFragment(fragment: string): Link {
  const {
    view = null,
    chain = '',
    ...fields
  } = Object.fromEntries(new URLSearchParams(fragment.replace(/^#/, '')))
  return {
    page: view,
    chainId: /^[1-9][0-9]{0,14}$/.test(chain) ? Number(chain) : null,
    fields,
  }
}
