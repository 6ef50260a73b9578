/** A form that calls one route. The server's errors appear at the fields they name, all others above the form. */
import { useRef, useState, type ChangeEvent, type FormEvent } from 'react'
import type { ApiError, Call, FieldErrors, Route, AnswerOf } from '../api.ts'
import { useApiMutation } from '../queries.ts'
import { text } from '../text/index.ts'
import { explain } from '../explain.ts'

type Given<R extends Route> = Omit<Call<R>, 'signal'>

export type ApiFormOptions<R extends Route, V> = {
  initial: V
  /** What is sent, from what was filled in. */
  call(values: V): Given<R>
  success?: string | ((answer: AnswerOf<R>) => string)
  alsoStale?: readonly string[]
  onSuccess?(answer: AnswerOf<R>, version: string | undefined): void
}

type Changed = ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>
const isEvent = (value: unknown): value is Changed =>
  typeof value === 'object' && value !== null && 'currentTarget' in value

export function useApiForm<R extends Route, V extends object>(route: R, options: ApiFormOptions<R, V>) {
  const [values, setValues] = useState(options.initial)
  const [errors, setErrors] = useState<FieldErrors>({})
  const [failure, setFailure] = useState<ApiError>()
  const shownAtFields = useRef(new Set<string>())
  const mutation = useApiMutation(route, {
    success: options.success ?? text.common.saved,
    isQuietOnError: true,
    alsoStale: options.alsoStale,
    onSuccess: options.onSuccess,
  })

  const set = (changes: Partial<V>) => {
    setValues((before) => ({ ...before, ...changes }))
    setErrors((before) =>
      Object.fromEntries(Object.entries(before).filter(([path]) => !(rootOf(path) in changes))),
    )
  }
  /** The sentence for a path of the body, such as `content.body`: its field shows it, so the alert does not. */
  const errorOf = (path: string): string | undefined => {
    shownAtFields.current.add(path)
    const sentences = errors[path]
    return sentences && sentenceOf(sentences.join('; '))
  }
  const onChange = (name: keyof V) => (value: unknown) =>
    set({ [name]: isEvent(value) ? value.currentTarget.value : value } as Partial<V>)

  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    setErrors({})
    setFailure(undefined)
    mutation.mutate(options.call(values), {
      onError: (error) => {
        setErrors(error.errors)
        setFailure(error)
      },
    })
  }

  return {
    values,
    set,
    errorOf,
    /** For text, number and choice inputs: `<TextInput {...form.field('name')} />`. */
    field: <N extends keyof V & string>(name: N, path: string = name) => ({
      name,
      value: values[name],
      onChange: onChange(name),
      error: errorOf(path),
    }),
    /** For checkboxes and switches. */
    check: <N extends keyof V & string>(name: N, path: string = name) => ({
      name,
      checked: values[name] === true,
      onChange: (event: ChangeEvent<HTMLInputElement>) =>
        set({ [name]: event.currentTarget.checked } as unknown as Partial<V>),
      error: errorOf(path),
    }),
    /** What to say above the form; undefined when the fields say it all. */
    alert: () => alertOf(failure, errors, shownAtFields.current),
    /** 412: somebody was quicker. */
    failedWith: failure?.status,
    isSaving: mutation.isPending,
    isDirty: JSON.stringify(values) !== JSON.stringify(options.initial),
    submit,
    reset(to: V = options.initial) {
      setValues(to)
      setErrors({})
      setFailure(undefined)
    },
  }
}

export type ApiForm = { alert(): string[] | undefined; isSaving: boolean; submit(event?: FormEvent): void }

/** `content.body` and `entries[0].value` belong to the fields `content` and `entries`. */
const rootOf = (path: string): string => path.split(/[.[]/)[0] ?? path

const sentenceOf = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)

function alertOf(
  failure: ApiError | undefined,
  errors: FieldErrors,
  shown: ReadonlySet<string>,
): string[] | undefined {
  if (failure === undefined) return undefined
  const all = Object.entries(failure.errors)
  if (all.length === 0) return [explain(failure)]
  const others = all.filter(([path]) => !shown.has(path) && path in errors)
  if (others.length === 0) return undefined
  return others.flatMap(([path, sentences]) =>
    sentences.map((sentence) => sentenceOf(path === '' ? sentence : `${path} ${sentence}`)),
  )
}
