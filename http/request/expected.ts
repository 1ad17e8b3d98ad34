/** A value's expected form, in words, by the rule of a schema that it breaks. */
import type { Compile } from 'typebox/compile'
import { shorten } from '#primitives.ts'
import { wordsOf } from '../schema.ts'

export type Finding = ReturnType<ReturnType<typeof Compile>['Errors']>[number]

/** It goes on from `must be`. */
export function expectedBy(finding: Finding): string {
  switch (finding.keyword) {
    case 'type':
      return [finding.params.type].flat().map(kindOf).join(' or ')
    case 'enum':
      return choiceOf(finding.params.allowedValues)
    case 'const':
      return written(finding.params.allowedValue)
    case 'format':
      return formats[finding.params.format] ?? `of the format ${shorten(finding.params.format)}`
    case 'pattern':
      return wordsOf(String(finding.params.pattern))
    case 'uniqueItems':
      return 'a list without repeats'
    case 'multipleOf':
      return `a multiple of ${finding.params.multipleOf}`
    case '~refine':
      return finding.params.message
    default:
      return boundOf(finding)
  }
}

function boundOf(finding: Finding): string {
  switch (finding.keyword) {
    case 'minimum':
      return `at least ${finding.params.limit}`
    case 'maximum':
      return `at most ${finding.params.limit}`
    case 'exclusiveMinimum':
      return `more than ${finding.params.limit}`
    case 'exclusiveMaximum':
      return `less than ${finding.params.limit}`
    case 'minLength':
      return `a text of at least ${counted(finding.params.limit, 'character')}`
    case 'maxLength':
      return `a text of at most ${counted(finding.params.limit, 'character')}`
    case 'minItems':
      return `a list of at least ${counted(finding.params.limit, 'entry', 'entries')}`
    case 'maxItems':
      return `a list of at most ${counted(finding.params.limit, 'entry', 'entries')}`
    case 'minProperties':
      return `an object of at least ${counted(finding.params.limit, 'member')}`
    case 'maxProperties':
      return `an object of at most ${counted(finding.params.limit, 'member')}`
    default:
      return 'of another form, which its schema tells'
  }
}

const kinds: Readonly<Record<string, string>> = {
  ...{ string: 'a text', integer: 'a whole number', number: 'a number', boolean: 'true or false' },
  ...{ array: 'a list', object: 'an object' },
}
const kindOf = (type: string): string => kinds[type] ?? type

const formats: Readonly<Record<string, string>> = {
  ...{ uuid: 'a UUID', uri: 'a URL', email: 'an e-mail address' },
  ...{ 'date-time': 'a moment such as 2026-01-31T12:00:00Z', date: 'a date such as 2026-01-31' },
}

/** Choices that are named: nobody reads a longer list. */
const CHOICES_MAX = 30

function choiceOf(values: readonly unknown[]): string {
  const more = values.length > CHOICES_MAX ? ` and ${values.length - CHOICES_MAX} more` : ''
  return `${values.length > 1 ? 'one of ' : ''}${values.slice(0, CHOICES_MAX).map(written).join(', ')}${more}`
}

const written = (value: unknown): string => shorten(typeof value === 'string' ? value : JSON.stringify(value))

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
