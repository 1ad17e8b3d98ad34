/**
 * Shows one page at a time: its tab, its code when it is first asked for, and its link in the
 * address bar.
 */
import { type LinkFields, parseFragment, toFragment } from '../model/link.ts'
import type { ChainChoice } from './ChainChoice.ts'
import { button, element, find } from './element.ts'
import type { Page, PageEntry } from './page.ts'
import type { StatusSample } from './statusFeed.ts'
import { wireTabs } from './tabs.ts'

export class Router {
  readonly #pages: readonly PageEntry[]
  readonly #chain: ChainChoice
  readonly #select: (name: string) => void
  readonly #loading = new Map<string, Promise<void>>()
  readonly #opened = new Map<string, Page>()
  #shown: string
  #last: StatusSample | null = null

  constructor(pages: readonly PageEntry[], chain: ChainChoice) {
    this.#pages = pages
    this.#chain = chain
    this.#shown = pages[0]?.name ?? ''
    find('pages', HTMLElement).append(...pages.map(tabOf))
    document.body.append(...pages.map(panelOf))
    this.#select = wireTabs(
      pages.map(({ name }) => name),
      (name) => this.#selected(name),
    )
    for (const { name } of pages)
      find(`tab-${name}`, HTMLElement).addEventListener('click', () => this.#writeLink('replace'))
    window.addEventListener('popstate', () => void this.followLink())
  }

  /** Shows what the address bar names. */
  async followLink(): Promise<void> {
    const { page, chainId, fields } = parseFragment(location.hash)
    const [first] = this.#pages
    const entry = this.#pages.find(({ name }) => name === page) ?? first
    if (!entry) return
    this.#chain.want(chainId)
    this.#shown = entry.name
    const isNew = !this.#loading.has(entry.name)
    this.#select(entry.name)
    await this.#load(entry, fields)
    if (!isNew) await this.#opened.get(entry.name)?.show?.(fields)
  }

  /** Every page that was opened hears every report. */
  tell(sample: StatusSample): void {
    this.#last = sample
    for (const page of this.#opened.values()) page.told?.(sample)
  }

  #selected(name: string): void {
    const changed = name !== this.#shown
    this.#shown = name
    const page = this.#opened.get(name)
    if (page && this.#last) page.told?.(this.#last)
    const entry = this.#pages.find((candidate) => candidate.name === name)
    if (changed && entry) void this.#load(entry, {})
  }

  #load(entry: PageEntry, fields: LinkFields): Promise<void> {
    const known = this.#loading.get(entry.name)
    if (known) return known
    const loading = this.#open(entry, fields)
    this.#loading.set(entry.name, loading)
    return loading
  }

  async #open({ name, load }: PageEntry, fields: LinkFields): Promise<void> {
    const host = find(`panel-${name}`, HTMLElement)
    // A restart with another version serves other files than this page was told of.
    const code = await load().catch(() => null)
    if (code === null) return host.replaceChildren(reloadOffer())
    const page = code.open(host, {
      chainId: () => this.#chain.chainId,
      writeLink: (how) => this.#writeLink(how),
    })
    this.#opened.set(name, page)
    if (this.#last) page.told?.(this.#last)
    await page.show?.(fields)
  }

  /** A page that is still loading was asked for by the link that stands there. */
  #writeLink(how: 'push' | 'replace'): void {
    const page = this.#opened.get(this.#shown)
    const fields = page?.linked?.() ?? {}
    const name = this.#shown === this.#pages[0]?.name ? null : this.#shown
    const link = toFragment({ page: name, chainId: this.#chain.chainId, fields })
    if (link === location.hash) return
    if (how === 'push') history.pushState(null, '', link)
    else history.replaceState(null, '', link)
  }
}

const tabOf = ({ name, title }: PageEntry): HTMLElement =>
  element(
    'button',
    { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': `panel-${name}` },
    title,
  )

const panelOf = ({ name }: PageEntry): HTMLElement =>
  element('main', {
    id: `panel-${name}`,
    class: name,
    role: 'tabpanel',
    'aria-labelledby': `tab-${name}`,
    hidden: true,
  })

const reloadOffer = (): HTMLElement =>
  element(
    'p',
    { class: 'empty' },
    'This part could not be loaded; the program may have been updated. ',
    button('Reload', () => location.reload()),
  )
