/**
 * The tables of an engine with their columns and comments, to read, to search, and to write names
 * from.
 */
import type { Example, IndexerSchema, Relation, RelationColumn } from '../../model/wire.ts'
import { button, element, find } from '../element.ts'
import { writtenName } from './sqlLanguage.ts'

export interface SchemaActions {
  /** Puts a name into the editor. */
  readonly insert: (name: string) => void
  /** Shows and runs a query. */
  readonly open: (sql: string) => void
}

export class SchemaBrowser {
  readonly #actions: SchemaActions
  readonly #filter = find('schema-filter', HTMLInputElement)
  readonly #relations = find('relations', HTMLElement)
  readonly #examples = find('examples', HTMLElement)
  #schema: IndexerSchema | null = null

  constructor(actions: SchemaActions) {
    this.#actions = actions
    this.#filter.addEventListener('input', () => this.#list())
  }

  show(schema: IndexerSchema): void {
    this.#schema = schema
    this.#examples.replaceChildren(...schema.examples.map((example) => this.#example(example)))
    this.#list()
  }

  fail(message: string): void {
    this.#relations.replaceChildren(element('p', { class: 'empty' }, message))
  }

  #list(): void {
    const wanted = this.#filter.value.trim().toLowerCase()
    const opened = new Set([...this.#relations.querySelectorAll('details[open]')].map(({ id }) => id))
    const listed = (this.#schema?.relations ?? []).flatMap((relation) => {
      const columns = relation.columns.filter(({ name }) => name.includes(wanted))
      const named = relation.name.includes(wanted)
      if (!named && columns.length === 0) return []
      const open = wanted === '' ? opened.has(idOf(relation)) : !named
      return [this.#relation(relation, named ? relation.columns : columns, open)]
    })
    const none = element('p', { class: 'empty' }, 'No table or column has this in its name.')
    this.#relations.replaceChildren(...(listed.length > 0 ? listed : [none]))
  }

  #relation(relation: Relation, columns: readonly RelationColumn[], open: boolean): HTMLElement {
    const { name, comment, sample } = relation
    return element(
      'details',
      { class: 'relation', id: idOf(relation), open },
      element('summary', {}, element('code', {}, name), element('span', { class: 'comment' }, comment)),
      button('Newest rows', () => this.#actions.open(sample), { class: 'quiet sample' }),
      element('ul', {}, ...columns.map((column) => this.#column(column))),
    )
  }

  #column({ name, type, comment }: RelationColumn): HTMLElement {
    const insert = button('', () => this.#actions.insert(writtenName(name)), {
      class: 'column',
      title: `${comment}. Click to write the name.`,
    })
    insert.append(
      element('code', {}, name),
      element('span', { class: 'type' }, type),
      element('span', { class: 'comment' }, comment),
    )
    return element('li', {}, insert)
  }

  #example({ title, sql }: Example): HTMLElement {
    return element(
      'li',
      {},
      button(title, () => this.#actions.open(sql), { class: 'example', title: sql }),
    )
  }
}

const idOf = ({ name }: Relation): string => `relation-${name}`
