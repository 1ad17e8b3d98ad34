/**
 * Tabs as the ARIA practices describe them: one is in the tab order, arrow keys move between them.
 */
import { find } from './element.ts'

/**
 * Wires `tab-<name>` to `panel-<name>` for each name. Returns what selects one; `selected` is told
 * of every change.
 */
export function wireTabs<Name extends string>(
  names: readonly Name[],
  selected: (name: Name) => void,
): (name: Name) => void {
  const tabs = names.map((name) => ({
    name,
    tab: find(`tab-${name}`, HTMLButtonElement),
    panel: find(`panel-${name}`, HTMLElement),
  }))
  const select = (chosen: Name) => {
    for (const { name, tab, panel } of tabs) {
      tab.setAttribute('aria-selected', `${name === chosen}`)
      tab.tabIndex = name === chosen ? 0 : -1
      panel.hidden = name !== chosen
    }
    selected(chosen)
  }
  for (const [index, { name, tab }] of tabs.entries()) {
    tab.addEventListener('click', () => select(name))
    tab.addEventListener('keydown', (event) => {
      const next = tabs[targetOf(event.key, index, tabs.length)]
      if (!next || next.tab === tab) return
      event.preventDefault()
      select(next.name)
      next.tab.focus()
    })
  }
  return select
}

function targetOf(key: string, index: number, count: number): number {
  if (key === 'ArrowRight') return (index + 1) % count
  if (key === 'ArrowLeft') return (index + count - 1) % count
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : index
}
