/** Answers against the server's own OpenAPI document. */
import { AnswerSchemas } from '../../blackbox/apiDocument.ts'
import type { Answer, ChainApi } from './chainApi.ts'

/** The problems of an answer to GET under its operation's template, one text per problem. */
export type ResponseCheck = (template: string, answer: Answer) => readonly string[]

export async function responseCheck(api: ChainApi): Promise<ResponseCheck> {
  const schemas = new AnswerSchemas((await api.get('/openapi.json')).body)
  return (template, { status, body }) => schemas.problems(template, 'GET', status, body)
}
