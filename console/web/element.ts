/**
 * Makes and finds elements. Text is only ever set as text: nothing here can turn a value into
 * markup.
 */

type Child = Node | string | null
type Attributes = Readonly<Record<string, string | number | boolean | null>>

/**
 * An element with attributes (true is present, false and null are absent) and children (null is
 * none).
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return fill(document.createElement(tag), attributes, children)
}

const svgNamespace = 'http://www.w3.org/2000/svg'

export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  return fill(document.createElementNS(svgNamespace, tag), attributes, children)
}

/** A button that does something. */
export function button(text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text)
  made.addEventListener('click', act)
  return made
}

/** The element of the page with this id. @throws when the page has none of this kind */
export function find<Kind extends Element>(id: string, kind: abstract new () => Kind): Kind {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new Error(`the page has no ${kind.name} with the id ${id}`)
}

function fill<Made extends Element>(made: Made, attributes: Attributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== false) made.setAttribute(name, value === true ? '' : String(value))
  for (const child of children) if (child !== null) made.append(child)
  return made
}
