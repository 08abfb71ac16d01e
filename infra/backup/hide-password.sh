# Sourced by the scripts beside it.
# Other users can read a program's arguments, so the password goes by the environment. One with %-escapes does not come
# through like this: give a URL without it, and PGPASSWORD.
case $DATABASE_URL in *://*:*@*)
  login=${DATABASE_URL#*://} login=${login%%@*}
  case $login in *%*) ;; *)
    export PGPASSWORD="${login#*:}"
    DATABASE_URL="${DATABASE_URL%%://*}://${login%%:*}@${DATABASE_URL#*@}" ;;
  esac ;;
esac
