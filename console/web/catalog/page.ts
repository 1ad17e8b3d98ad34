/** The catalog page: endpoints by intent, and how one service is called. */
import type { LinkFields } from '../../model/link.ts'
import { RequestFailure } from '../../model/queryAnswer.ts'
import { readService, type SearchQuestion, searchServices } from '../../model/services.ts'
import { origin } from '../api.ts'
import { button, element } from '../element.ts'
import type { Page, PageFrame } from '../page.ts'
import { resultsOf } from './results.ts'
import { serviceOf } from './service.ts'

export function open(host: HTMLElement, frame: PageFrame): Page {
  const view = new CatalogView(host, frame)
  return { show: (fields) => view.show(fields), linked: () => view.linked() }
}

const LIMIT = 20

class CatalogView {
  readonly #frame: PageFrame
  readonly #query = element('input', {
    ...{ type: 'search', id: 'intent', maxlength: 500, autocomplete: 'off', 'aria-label': 'What is needed' },
    placeholder: 'What do you need? For example: how long is the day',
  })
  readonly #live = element('input', { type: 'checkbox' })
  readonly #body = element('div', { class: 'found', 'aria-live': 'polite' })
  /** The service that is read, and the place of its endpoint; null while results are shown. */
  #service: { readonly id: string; readonly endpoint: string | null } | null = null
  #asking = new AbortController()

  constructor(host: HTMLElement, frame: PageFrame) {
    this.#frame = frame
    const form = element(
      'form',
      { class: 'intent', role: 'search' },
      this.#query,
      element('button', { type: 'submit', class: 'primary' }, 'Search'),
      element(
        'label',
        { title: 'Where the operator has enabled it: the answer says what ran.' },
        this.#live,
        ' ask sellers now',
      ),
    )
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      this.#service = null
      void this.#draw('push')
    })
    host.append(form, this.#body)
  }

  async show({ q, service, endpoint, live }: LinkFields): Promise<void> {
    this.#query.value = q ?? ''
    this.#live.checked = live !== undefined
    this.#service = service === undefined ? null : { id: service, endpoint: endpoint ?? null }
    await this.#draw(null)
  }

  linked(): LinkFields {
    return {
      ...(this.#query.value !== '' && { q: this.#query.value }),
      ...(this.#live.checked && { live: 'yes' }),
      ...(this.#service && { service: this.#service.id }),
      ...(this.#service?.endpoint && { endpoint: this.#service.endpoint }),
    }
  }

  async #draw(link: 'push' | null): Promise<void> {
    if (link) this.#frame.writeLink(link)
    this.#asking.abort()
    this.#asking = new AbortController()
    const { signal } = this.#asking
    try {
      const drawn = await (this.#service ? this.#read(this.#service, signal) : this.#search(signal))
      if (!signal.aborted) this.#body.replaceChildren(...drawn)
    } catch (error) {
      if (!signal.aborted) this.#body.replaceChildren(this.#failed(error))
    }
  }

  async #search(signal: AbortSignal): Promise<Node[]> {
    const question: SearchQuestion = {
      query: this.#query.value.trim(),
      limit: LIMIT,
      resolution: this.#live.checked ? 'live' : 'static',
    }
    const found = await searchServices(origin, question, signal)
    const places = {
      chainId: this.#frame.chainId(),
      openService: (id: string, endpoint: string | null) => {
        this.#service = { id, endpoint }
        void this.#draw('push')
      },
    }
    return resultsOf(question, found, places)
  }

  async #read(
    { id, endpoint }: { readonly id: string; readonly endpoint: string | null },
    signal: AbortSignal,
  ): Promise<Node[]> {
    const description = await readService(origin, id, signal)
    const back = button(
      '← Results',
      () => {
        this.#service = null
        void this.#draw('push')
      },
      { class: 'quiet' },
    )
    return [element('p', {}, back), ...serviceOf(description, endpoint, this.#frame.chainId())]
  }

  #failed(error: unknown): HTMLElement {
    const text = error instanceof RequestFailure ? error.message : 'This page could not be shown.'
    const again = button('Try again', () => void this.#draw(null))
    return element('p', { class: 'empty', role: 'alert' }, text, ' ', again)
  }
}
