/** A deployment's OpenAPI document, as far as the checks read it. */
import { Compile } from 'typebox/compile'
import { isRecord } from '#primitives.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of any deployment; every reader says in its checks what it expects
export type Json = any

/** A JSON schema; the members that parameters use. */
export interface Schema {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly examples?: readonly unknown[]
  readonly default?: unknown
}

export interface DocumentedParameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  /** Whether a list is given by repeats, and commas are of its values. */
  readonly explode?: boolean
  readonly schema: Schema
}

export interface Operation {
  /** `GET /v1/blocks`, as tables and failures name it. */
  readonly title: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly DocumentedParameter[]
  /** Schemes of which one is needed; an empty one asks for nothing. */
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly requestBody?: Json
  readonly responses: Json
}

export function operationsOf(document: Json): readonly Operation[] {
  return Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([verb, { parameters = [], security = [], requestBody, responses }]) => {
      const method = verb.toUpperCase()
      return { title: `${method} ${path}`, method, path, parameters, security, requestBody, responses }
    }),
  )
}

export const parameterOf = ({ parameters }: Operation, name: string): DocumentedParameter | undefined =>
  parameters.find((parameter) => parameter.in === 'query' && parameter.name === name)

/** Whether the operation answers with pages. */
export const isList = (operation: Operation): boolean =>
  operation.method === 'GET' && parameterOf(operation, 'cursor') !== undefined

/** The values of `include`. */
export const includesOf = (operation: Operation): readonly string[] =>
  (parameterOf(operation, 'include')?.schema.items?.enum ?? []).map(String)

/** Compares answers with the document: nothing missing, nothing of another form, nothing more. */
export class AnswerSchemas {
  readonly #document: Json
  readonly #compiled = new Map<string, ReturnType<typeof Compile>>()

  constructor(document: Json) {
    this.#document = document
  }

  /** The problems of a JSON answer of the operation, one text per problem. */
  problems(path: string, method: string, status: number, body: unknown): readonly string[] {
    const key = `${method} ${path} ${status}`
    const responses = this.#document.paths[path]?.[method.toLowerCase()]?.responses
    const schema = responses?.[status]?.content?.['application/json']?.schema
    if (!schema) return [`${key} is not in the document`]
    const check = this.#compiled.get(key) ?? Compile(inlined(schema, this.#document))
    this.#compiled.set(key, check)
    if (check.Check(body)) return []
    return check.Errors(body).map(({ instancePath, message }) => `${key} ${instancePath} ${message}`)
  }
}

/**
 * The schema with what it refers to in place of the references; no schema of ours contains itself.
 */
export function inlined(node: unknown, document: Json): Json {
  if (Array.isArray(node)) return node.map((member) => inlined(member, document))
  if (!isRecord(node)) return node
  const { $ref } = node
  if (typeof $ref === 'string') {
    const names = $ref.split('/').slice(1)
    return inlined(
      names.reduce((at, name) => at[name], document),
      document,
    )
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inlined(value, document)]))
}
