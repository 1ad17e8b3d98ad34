/**
 * Reads Recursive Length Prefix encoding (Yellow Paper, appendix B). The bytes may be anything: what
 * is no encoding has no items.
 */

/** The first item with its prefix; null where the bytes hold none whole. */
export function firstItem(bytes: Uint8Array): Uint8Array | null {
  return listItems(bytes)[0] ?? null
}

/** All items of a list with their prefixes; none where the bytes are no list, or end within one. */
export function listItems(bytes: Uint8Array): readonly Uint8Array[] {
  const list = contentOf(bytes)
  return list && isList(bytes) ? itemsOf(list) : []
}

/** The items of a list, each with its prefix; none where it is no list, or ends within one. */
export function itemsIn(list: Uint8Array): readonly Uint8Array[] {
  const content = isList(list) ? contentOf(list) : null
  return content ? itemsOf(content) : []
}

export const isList = (item: Uint8Array): boolean => (item[0] ?? 0) >= EMPTY_LIST

/** Whether both are one item, or lists of which the longer one begins with the items of the other. */
export function beginsAs(longer: Uint8Array, other: Uint8Array): boolean {
  if (Buffer.compare(longer, other) === 0) return true
  const [whole, part] = [contentOf(longer), contentOf(other)]
  if (!isList(longer) || !isList(other) || !whole || !part) return false
  const [items, others] = [itemsOf(whole), itemsOf(part)]
  return (
    others.length <= items.length && others.every((item, index) => beginsAs(items[index] ?? NOTHING, item))
  )
}

const NOTHING = new Uint8Array()
const EMPTY_STRING = 0x80
const EMPTY_LIST = 0xc0
/** Longest content, in bytes, whose length stands in the prefix's first byte. */
const SHORT_MAX = 55

/** The bytes after an item's prefix; null if they are not exactly one item. */
export function contentOf(item: Uint8Array): Uint8Array | null {
  const size = sizeOf(item)
  return size && size.prefix + size.content === item.length ? item.subarray(size.prefix) : null
}

/** Items one behind the other; none where the bytes end within one. */
function itemsOf(bytes: Uint8Array): readonly Uint8Array[] {
  const items: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = sizeOf(bytes.subarray(at))
    if (!size || at + size.prefix + size.content > bytes.length) return []
    items.push(bytes.subarray(at, at + size.prefix + size.content))
    at += size.prefix + size.content
  }
  return items
}

function sizeOf(bytes: Uint8Array): { readonly prefix: number; readonly content: number } | null {
  const [first] = bytes
  if (first === undefined) return null
  if (first < EMPTY_STRING) return { prefix: 0, content: 1 }
  const short = first - (first < EMPTY_LIST ? EMPTY_STRING : EMPTY_LIST)
  if (short <= SHORT_MAX) return { prefix: 1, content: short }
  const lengthBytes = short - SHORT_MAX
  // Nothing we are told is longer than four bytes can say.
  if (lengthBytes > 4 || bytes.length <= lengthBytes) return null
  const content = bytes.subarray(1, 1 + lengthBytes).reduce((size, byte) => size * 256 + byte, 0)
  return { prefix: 1 + lengthBytes, content }
}
