/** Answers against the server's own OpenAPI document: nothing missing, nothing of another form, nothing more. */
import { Compile } from 'typebox/compile'
import { isRecord } from '#api/http/json.ts'
import type { Answer, ChainApi } from './chainApi.ts'

/** What is wrong with an answer under its operation's template, one text per problem. */
export type ResponseCheck = (template: string, answer: Answer) => readonly string[]

export async function responseCheck(api: ChainApi): Promise<ResponseCheck> {
  const { body: document } = await api.get('/openapi.json')
  const compiled = new Map<string, ReturnType<typeof Compile>>()
  return (template, { status, body }) => {
    const key = `${template} ${status}`
    const schema = document.paths[template]?.get?.responses[status]?.content?.['application/json']?.schema
    if (!schema) return [`${key} is not in the document`]
    const check = compiled.get(key) ?? Compile(inlined(schema, document))
    compiled.set(key, check)
    return check.Check(body)
      ? []
      : check.Errors(body).map(({ instancePath, message }) => `${key} ${instancePath} ${message}`)
  }
}

/** The schema with what it refers to in place of the references; no schema of ours contains itself. */
// biome-ignore lint/suspicious/noExplicitAny: a JSON document
function inlined(node: unknown, document: any): any {
  if (Array.isArray(node)) return node.map((member) => inlined(member, document))
  if (!isRecord(node)) return node
  const { $ref } = node
  if (typeof $ref === 'string') {
    const target = $ref
      .split('/')
      .slice(1)
      .reduce((at, name) => at[name], document)
    return inlined(target, document)
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inlined(value, document)]))
}
