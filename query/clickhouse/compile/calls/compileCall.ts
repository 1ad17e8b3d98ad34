/** Calls: functions by name and kind, constant arguments, lambdas, aggregate clauses, windows. */

import { functionRules as postgresFunctions } from '../../../postgres/gate/expressions/functions.ts'
import { functionHint } from '../../../words/hints.ts'
import type { CallExpression, Expression, Name, Window } from '../../parse/ast.ts'
import { type Compiled, type Compiler, invalid, type NameScope, quoteName, refused } from '../Compiler.ts'
import { alternatives, assertOneKind, assertOneWidth } from '../numbers.ts'
import { compileTextArguments } from '../operators/bytesAsText.ts'
import { firstPresent } from '../operators/compileArray.ts'
import { assertWidths, compileOperands } from '../operators/compileComparison.ts'
import { compileStringBeside } from '../operators/compileConstant.ts'
import { arrayOf, commonType, elementOf, localTime, scalar, sumType, type ValueType } from '../valueType.ts'
import { compileAggregate, sumOfArray } from './compileAggregate.ts'
import { compilePortable } from './compilePortable.ts'
import { compileShift } from './compileShift.ts'
import {
  type ConstantRule,
  type FunctionRule,
  findFunction,
  functionNames,
  type ResultRule,
} from './functions.ts'

const ARGUMENTS_MAX = 100

export function compileCall(compiler: Compiler, call: CallExpression, scope: NameScope): Compiled {
  const compiled = compileKnown(compiler, call, scope)
  const { scalar: type } = compiled.type
  return (type === 'int' || type === 'bigint') && isOwnCall(call)
    ? { ...compiled, type: { ...compiled.type, isOwn: true } }
    : compiled
}

/** Whether PostgreSQL has no such call, so that whoever wrote it means what this engine does. */
const isOwnCall = ({ name, args, isStar, parameters }: CallExpression): boolean =>
  parameters !== undefined ||
  !portableNames.has(name.toLowerCase()) ||
  (args.length === 0 && !isStar && name.toLowerCase() === 'count')

/** Words of PostgreSQL's grammar that are no functions there, and its functions. */
const portableNames: ReadonlySet<string> = new Set([
  ...['coalesce', 'nullif', 'greatest', 'least', 'grouping', '->', '->>'],
  ...postgresFunctions.keys(),
])

function compileKnown(compiler: Compiler, call: CallExpression, scope: NameScope): Compiled {
  const found = findFunction(call.name)
  if (!found)
    throw refused(
      compiler,
      `the function ${call.name} is not allowed`,
      call.at,
      functionHint('clickhouse', call.name, functionNames),
    )
  const { rule, isConditional } = found
  assertClauses(compiler, call, rule)
  const place = mapParts.indexOf(rule.name)
  if (place >= 0) return compiler.expression(partOfMap(compiler, call, place), scope)
  assertConstants(compiler, call, rule)
  const args = compileArguments(compiler, call, rule, scope)
  const over = `${printFilter(compiler, call, scope)}${printOver(compiler, call, scope)}`
  if (defaulting.includes(rule.name) && args.some(({ type }) => type.isArray)) return firstPresent(args)
  assertPresent(compiler, call, rule, args)
  const portable = compilePortable(compiler, call, rule, args)
  if (portable) return portable
  const print = (name: string, values: readonly string[]) =>
    `${name}${isConditional ? 'If' : ''}(${call.isDistinct ? 'DISTINCT ' : ''}${[...values, ...args.slice(values.length).map(({ sql }) => sql)].join(', ')})${over}`
  const aggregate =
    rule.name === 'arraySum' ? sumOfArray(args) : compileAggregate(compiler, call, rule, args, print, scope)
  if (aggregate) return aggregate
  const type = withoutWidth(rule, resultType(rule.result, argumentTypes(call, rule, args)))
  return { sql: `${printCall(call, rule, isConditional, args)}${over}`, type }
}

/** Keys stand first in each pair of a map. */
const mapParts: readonly string[] = ['mapKeys', 'mapValues']

/** No value is a map here, so one is written out, and its keys are an array that is. */
function partOfMap(compiler: Compiler, call: CallExpression, place: number): Expression {
  const [map] = call.args
  const pairs = map?.kind === 'call' && map.name.toLowerCase() === 'map' ? map.args : []
  if (pairs.length === 0 || pairs.length % 2 === 1)
    throw refused(
      compiler,
      `${call.name} takes a map, written out`,
      call.at,
      `write ${call.name}(map('a', 1))`,
    )
  return { kind: 'array', items: pairs.filter((_, index) => index % 2 === place), at: call.at }
}

function assertClauses(compiler: Compiler, call: CallExpression, rule: FunctionRule): void {
  const { kind, name } = rule
  const problem =
    call.over && kind !== 'aggregate' && kind !== 'window'
      ? `${name} takes no OVER`
      : !call.over && kind === 'window'
        ? `${name} needs OVER`
        : (call.filter || call.isDistinct || call.orderBy.length > 0) && kind !== 'aggregate'
          ? `${name} is not an aggregate`
          : call.isStar && name !== 'count'
            ? `only count takes *`
            : (call.parameters?.length ?? 0) > (rule.parametersMax ?? 0)
              ? `${name} takes no such parameters`
              : call.args.length > (rule.argumentsMax ?? ARGUMENTS_MAX)
                ? `${name} has too many arguments`
                : undefined
  if (problem) throw refused(compiler, problem, call.at)
}

function assertConstants(compiler: Compiler, call: CallExpression, rule: FunctionRule): void {
  for (const [index, constant] of Object.entries(rule.constants ?? {})) {
    const argument = call.args[Number(index)]
    const problem = argument && constantProblem(argument, call.args[Number(index) - 1], constant)
    if (problem)
      throw refused(compiler, `argument ${Number(index) + 1} of ${call.name} must be ${problem}`, argument.at)
  }
  for (const parameter of call.parameters ?? []) {
    if (parameter.kind !== 'number')
      throw refused(compiler, 'parameters must be numbers, written out', parameter.at)
  }
}

function constantProblem(
  argument: Expression,
  previous: Expression | undefined,
  rule: ConstantRule,
): string | undefined {
  if (rule.kind === 'number') {
    const isOk =
      argument.kind === 'number' && /^\d+$/.test(argument.text) && Number(argument.text) <= rule.max
    return isOk ? undefined : `a number up to ${rule.max}, written out`
  }
  if (argument.kind !== 'string') return 'a text, written out'
  if (rule.kind === 'noLongerThanPrevious') {
    const lengthMax = previous?.kind === 'string' ? previous.value.length : 0
    return argument.value.length <= lengthMax ? undefined : 'no longer than the text it replaces'
  }
  if (rule.kind === 'text')
    return argument.value.length <= rule.max ? undefined : `at most ${rule.max} characters`
  return rule.words.includes(argument.value.toLowerCase()) ? undefined : `one of ${rule.words.join(', ')}`
}

function compileArguments(
  compiler: Compiler,
  call: CallExpression,
  rule: FunctionRule,
  scope: NameScope,
): Compiled[] {
  if (rule.kind === 'higherOrder') return compileHigherOrder(compiler, call, rule, scope)
  // Alternatives of one value share its type, as the sides of a comparison do.
  if ([...choosing, 'nullIf', 'equals', 'notEquals'].includes(rule.name)) {
    const check = choosing.includes(rule.name) ? undefined : assertWidths
    const operands = compileOperands(compiler, call.args, scope, check)
    return choosing.includes(rule.name) ? alternatives(operands) : operands
  }
  const shifted = shifting.includes(rule.name) ? compileShift(compiler, call, scope) : undefined
  if (shifted) return shifted
  if (branching.includes(rule.name)) return compileBranches(compiler, call, rule.name, scope)
  const texts = compileTextArguments(compiler, call, rule.name, scope)
  if (texts) return texts
  if (searching.includes(rule.name)) return compileSearch(compiler, call, scope)
  const compiled = call.args.map((argument) => compiler.expression(argument, scope))
  // Bytes of fixed length in an array would be padded or cut wherever others are compared with them.
  if (rule.kind === 'aggregate' && rule.result === 'arrayOfFirst')
    return [...alternatives(compiled.slice(0, 1)), ...compiled.slice(1)]
  return compiled
}

/** Functions that look for values among those of an array. */
const searching: readonly string[] = ['has', 'hasAny', 'hasAll', 'indexOf', 'countEqual']

function compileSearch(compiler: Compiler, call: CallExpression, scope: NameScope): Compiled[] {
  const [list, ...wanted] = call.args
  if (!list) throw invalid(compiler, `${call.name} needs an array`, call.at)
  const among = compiler.expression(list, scope)
  const element = elementOf(among.type)
  const values = wanted.map((value) =>
    value.kind === 'string'
      ? compileStringBeside(compiler, value, element)
      : compiler.expression(value, scope),
  )
  const elements = [among, ...values].map(({ sql, type }) => ({ sql, type: elementOf(type) }))
  assertOneKind(compiler, elements, () => call.at)
  assertOneWidth(compiler, elements, () => call.at)
  return [among, ...values]
}

/** Functions whose default stands for a row that is not there. */
const shifting: readonly string[] = ['lag', 'lead']
const branching: readonly string[] = ['if', 'multiIf']

/** Conditions stay as they are, results share their type. */
function compileBranches(
  compiler: Compiler,
  call: CallExpression,
  name: string,
  scope: NameScope,
): Compiled[] {
  const { args } = call
  const isResult = (index: number) =>
    name === 'if' ? index > 0 : index % 2 === 1 || index === args.length - 1
  const results = alternatives(
    compileOperands(
      compiler,
      args.filter((_, index) => isResult(index)),
      scope,
    ),
  )
  return args.map((argument, index) =>
    isResult(index)
      ? (results.shift() ?? compiler.expression(argument, scope))
      : compiler.expression(argument, scope),
  )
}

/** The arrays come first, since the lambda's parameters are their elements. */
function compileHigherOrder(
  compiler: Compiler,
  call: CallExpression,
  rule: FunctionRule,
  scope: NameScope,
): Compiled[] {
  const [first, ...rest] = call.args
  if (first?.kind !== 'lambda') {
    if (rule.lambda) throw invalid(compiler, `${call.name} begins with a lambda: x -> …`, call.at)
    return call.args.map((argument) => compiler.expression(argument, scope))
  }
  const arrays = rest.map((argument) => compiler.expression(argument, scope))
  const parameters = new Map(scope.parameters)
  const names = first.parameters.map(({ text }, index) => {
    const sql = quoteName(`p${compiler.nextNumber()}`)
    parameters.set(text, { sql, type: elementOf(arrays[index]?.type ?? scalar('unknown')) })
    return sql
  })
  const body = compiler.expression(first.body, { ...scope, parameters })
  return [{ sql: `((${names.join(', ')}) -> ${body.sql})`, type: body.type }, ...arrays]
}

/** Types of the arguments; an array function without its lambda acts as with `x -> x`. */
function argumentTypes(call: CallExpression, rule: FunctionRule, args: readonly Compiled[]): ValueType[] {
  const types = args.map((argument) => argument.type)
  const [first] = types
  const hasNoLambda = rule.kind === 'higherOrder' && call.args[0]?.kind !== 'lambda'
  return hasNoLambda && first ? [elementOf(first), ...types] : types
}

/** Functions that give the first argument that is there. */
const defaulting: readonly string[] = ['coalesce', 'ifNull']

/** An absent array, which PostgreSQL would leave out, the engine takes for one without elements. */
function assertPresent(
  compiler: Compiler,
  call: CallExpression,
  { kind }: FunctionRule,
  args: readonly Compiled[],
): void {
  if (kind !== 'aggregate' || !args.some(({ type }) => type.isAbsentWhenEmpty)) return
  const hint = 'give another array for NULL: coalesce(x, ARRAY[0])'
  throw refused(compiler, 'an array that may be NULL is not aggregated here', call.at, hint)
}

/** Functions whose result is one of their arguments. */
const choosing: readonly string[] = ['coalesce', 'ifNull', 'greatest', 'least']

/** Bytes that a function makes may be longer or shorter. */
function withoutWidth({ kind, name }: FunctionRule, type: ValueType): ValueType {
  if (choosing.includes(name) || name === 'nullIf') return type
  return kind === 'scalar' && type.scalar === 'bytes' ? { scalar: 'bytes', isArray: type.isArray } : type
}

function resultType(rule: ResultRule, types: readonly ValueType[]): ValueType {
  const first = types[0] ?? scalar('unknown')
  switch (rule) {
    case 'first':
      return first
    case 'second':
      return types[1] ?? scalar('unknown')
    case 'all':
      return commonType(types)
    case 'rest':
      return commonType(types.slice(1))
    case 'branches':
      return commonType(types.filter((_, index) => index % 2 === 1 || index === types.length - 1))
    case 'arrayOfFirst':
    case 'lambda':
      return arrayOf(first)
    case 'elementOfFirst':
      return elementOf(first)
    case 'sum':
      return sumType(elementOf(first))
    case 'floatArray':
      return arrayOf(scalar('float'))
    case 'textArray':
      return arrayOf(scalar('text'))
    case 'timestamp':
      return first.isLocal ? localTime : scalar('timestamp')
    default:
      return scalar(rule)
  }
}

function printCall(
  call: CallExpression,
  rule: FunctionRule,
  isConditional: boolean,
  args: readonly Compiled[],
): string {
  const printed = args.map((argument) => argument.sql)
  if (rule.print) return rule.print(printed)
  const parameters = call.parameters
    ? `(${call.parameters.map((parameter) => numberText(parameter)).join(', ')})`
    : ''
  const distinct = call.isDistinct ? 'DISTINCT ' : ''
  return `${rule.name}${isConditional ? 'If' : ''}${parameters}(${distinct}${printed.join(', ')})`
}

const numberText = (expression: Expression): string => (expression.kind === 'number' ? expression.text : '')

function printFilter(compiler: Compiler, { filter }: CallExpression, scope: NameScope): string {
  return filter ? ` FILTER (WHERE ${compiler.expression(filter, scope).sql})` : ''
}

function printOver(compiler: Compiler, { over }: CallExpression, scope: NameScope): string {
  if (!over) return ''
  if (!isName(over)) return ` OVER ${compiler.window(over, scope)}`
  if (!scope.windows.has(over.text)) throw invalid(compiler, `there is no window "${over.text}"`, over.at)
  return ` OVER ${quoteName(over.text)}`
}

const isName = (over: Window | Name): over is Name => 'text' in over
