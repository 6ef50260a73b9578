import { Button, PasswordInput, TextInput, type PasswordInputProps, type TextInputProps } from '@mantine/core'
import { useState } from 'react'
import { text } from '../../text/index.ts'
import { suggestPassword } from './roles.ts'
import classes from './users.module.css'

const words = text.users

export const NameInput = (props: TextInputProps) => (
  <TextInput label={words.name} description={words.nameHint} required data-autofocus {...props} />
)

/** Shown while one types or suggests it: it is told to somebody else anyway. */
export function PasswordField({
  onSuggest,
  ...props
}: PasswordInputProps & { onSuggest(password: string): void }) {
  const [isVisible, setIsVisible] = useState(false)
  return (
    <div className={classes['password']}>
      <PasswordInput
        label={words.password}
        description={words.passwordHint}
        required
        autoComplete="new-password"
        visible={isVisible}
        onVisibilityChange={setIsVisible}
        {...props}
      />
      <Button
        variant="default"
        onClick={() => {
          setIsVisible(true)
          onSuggest(suggestPassword())
        }}
      >
        {words.suggest}
      </Button>
    </div>
  )
}
