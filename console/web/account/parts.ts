/** Small parts of the account page: forms, and what happens to them while the program answers. */
import { isObject } from '../../model/queryAnswer.ts'
import { button, element } from '../element.ts'

export const field = (
  label: string,
  attributes: Readonly<Record<string, string | number | boolean | null>>,
): { readonly label: HTMLElement; readonly input: HTMLInputElement } => {
  const input = element('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', ...attributes })
  return { label: element('label', {}, label, ' ', input), input }
}

export function choice(
  label: string,
  values: readonly string[],
  chosen: string,
): { readonly label: HTMLElement; readonly select: HTMLSelectElement } {
  const options = values.map((value) => element('option', { value, selected: value === chosen }, value))
  const select = element('select', {}, ...options)
  return { label: element('label', {}, label, ' ', select), select }
}

/** A form whose button waits for the program; what goes wrong is told below it. */
export function form(
  submit: string,
  act: () => Promise<void>,
  ...fields: readonly HTMLElement[]
): HTMLFormElement {
  const problem = element('p', { class: 'problem', role: 'alert', hidden: true })
  const send = element('button', { type: 'submit' }, submit)
  const made = element('form', { class: 'row' }, ...fields, send, problem)
  made.addEventListener('submit', (event) => {
    event.preventDefault()
    void whileBusy(send, problem, act)
  })
  return made
}

/** A button of a table's row that asks first. */
export function dangerButton(text: string, question: string, act: () => Promise<void>): HTMLElement {
  const problem = element('span', { class: 'problem', role: 'alert', hidden: true })
  const made = button(
    text,
    () => {
      if (confirm(question)) void whileBusy(made, problem, act)
    },
    { class: 'quiet danger' },
  )
  return element('span', {}, made, problem)
}

async function whileBusy(
  pressed: HTMLButtonElement,
  problem: HTMLElement,
  act: () => Promise<void>,
): Promise<void> {
  pressed.disabled = true
  problem.hidden = true
  try {
    await act()
  } catch (error) {
    problem.textContent = textOf(error)
    problem.hidden = false
  } finally {
    pressed.disabled = false
  }
}

/** Wallets throw objects that are no errors. */
const textOf = (thrown: unknown): string =>
  thrown instanceof Error || isObject(thrown)
    ? String(Reflect.get(thrown, 'message') ?? 'That did not work.')
    : String(thrown)
