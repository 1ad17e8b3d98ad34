/**
 * The SQL editor. It lives in a shadow root: there CodeMirror adds its styles as constructed
 * sheets, which the page's policy allows; in the document it would write a style element, which the
 * policy refuses.
 */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching } from '@codemirror/language'
import { lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view'
import type { TextPlace } from '../../model/queryAnswer.ts'
import type { IndexerSchema } from '../../model/wire.ts'
import { editorTheme } from './editorTheme.ts'
import { sqlLanguage } from './sqlLanguage.ts'

export interface EditorActions {
  readonly run: () => void
  readonly changed: () => void
}

export class Editor {
  readonly #view: EditorView
  readonly #language = new Compartment()

  /** Takes over `host`, which must be empty. */
  constructor(host: HTMLElement, actions: EditorActions) {
    const root = host.attachShadow({ mode: 'open' })
    const parent = root.appendChild(document.createElement('div'))
    parent.style.height = '100%'
    this.#view = new EditorView({
      parent,
      root,
      state: EditorState.create({
        extensions: [this.#language.of(sqlLanguage(null)), extensionsOf(actions)],
      }),
    })
  }

  get text(): string {
    return this.#view.state.doc.toString()
  }

  set text(text: string) {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } })
  }

  focus(): void {
    this.#view.focus()
  }

  /** Puts a name where the cursor is. */
  insert(text: string): void {
    this.#view.dispatch(this.#view.state.replaceSelection(text), { scrollIntoView: true })
    this.focus()
  }

  /** Completes from this schema, in this engine's dialect. */
  use(schema: IndexerSchema): void {
    this.#view.dispatch({ effects: this.#language.reconfigure(sqlLanguage(schema)) })
  }

  /** Marks the word at a place; null takes the mark away. */
  mark(place: TextPlace | null, message: string): void {
    const { state } = this.#view
    const at = place === null ? null : offsetOf(state, place)
    const word =
      at === null ? null : (state.wordAt(at) ?? { from: at, to: Math.min(at + 1, state.doc.length) })
    const found = word === null ? [] : [{ from: word.from, to: word.to, severity: 'error' as const, message }]
    this.#view.dispatch(setDiagnostics(state, found))
  }

  goTo(place: TextPlace): void {
    this.#view.dispatch({ selection: { anchor: offsetOf(this.#view.state, place) }, scrollIntoView: true })
    this.focus()
  }
}

function extensionsOf({ run, changed }: EditorActions): Extension {
  const running = () => {
    run()
    return true
  }
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightActiveLine(),
    history(),
    drawSelection(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: true }),
    placeholder('SELECT …'),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': 'SQL', spellcheck: 'false', autocapitalize: 'off' }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) changed()
    }),
    Prec.highest(keymap.of([{ key: 'Mod-Enter', run: running }])),
    // Tab is left to move on: readers without a mouse must get out of the editor.
    keymap.of([
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...historyKeymap,
      ...lintKeymap,
      ...defaultKeymap,
    ]),
    editorTheme,
  ]
}

/** Places outside the text are taken to its nearest end. */
function offsetOf(state: EditorState, { line, column }: TextPlace): number {
  const { from, to } = state.doc.line(Math.max(1, Math.min(line, state.doc.lines)))
  return Math.min(to, from + Math.max(0, column - 1))
}
